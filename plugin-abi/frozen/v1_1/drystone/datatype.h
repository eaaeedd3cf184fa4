/* Data types of tensors. Since ABI 1.0; numbers are those of TensorFlow's DataType proto and never
 * change. */
#ifndef DRYSTONE_DATATYPE_H_
#define DRYSTONE_DATATYPE_H_

#include "drystone/macros.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum TF_DataType {
  TF_FLOAT = 1,
  TF_DOUBLE = 2,
  TF_INT32 = 3,
  TF_UINT8 = 4,
  TF_INT16 = 5,
  TF_INT8 = 6,
  TF_STRING = 7,     /* an array of TF_TString, see tstring.h */
  TF_COMPLEX64 = 8,  /* two floats */
  TF_COMPLEX = 8,    /* the old name of the same */
  TF_INT64 = 9,
  TF_BOOL = 10,      /* one byte, 0 or 1 */
  TF_QINT8 = 11,     /* the q types are integers with a scale that travels beside them */
  TF_QUINT8 = 12,
  TF_QINT32 = 13,
  TF_BFLOAT16 = 14,  /* the upper half of a float */
  TF_QINT16 = 15,
  TF_QUINT16 = 16,
  TF_UINT16 = 17,
  TF_COMPLEX128 = 18, /* two doubles */
  TF_HALF = 19,      /* IEEE binary16 */
  TF_RESOURCE = 20,  /* a handle; its bytes mean something to the host only */
  TF_VARIANT = 21,   /* any value; its bytes mean something to the host only */
  TF_UINT32 = 22,
  TF_UINT64 = 23,
  TF_FLOAT8_E5M2 = 24,
  TF_FLOAT8_E4M3FN = 25,
  TF_FLOAT8_E4M3FNUZ = 26,
  TF_FLOAT8_E4M3B11FNUZ = 27,
  TF_FLOAT8_E5M2FNUZ = 28,
  TF_INT4 = 29,      /* one byte an element: the low four bits count */
  TF_UINT4 = 30,
  TF_INT2 = 31,      /* one byte an element: the low two bits count */
  TF_UINT2 = 32,
  TF_FLOAT4_E2M1FN = 33
} TF_DataType;

/* Bytes of one element in a tensor's memory; 0 for TF_STRING, TF_RESOURCE, TF_VARIANT, whose elements
 * have no fixed meaning in bytes, and for an unknown number. */
TF_CAPI_EXPORT extern size_t TF_DataTypeSize(TF_DataType dtype);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DRYSTONE_DATATYPE_H_ */
